"""What an evaluator looks at for actions: the widgets around an action, and what fields and lists read."""
