"""The delivery process (`relay` in `acud status`): makes the deliveries that the supervisor decides on."""
