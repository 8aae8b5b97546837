"""Finding things on a screen by their description: methods, cheapest first, and the cascade over them."""
