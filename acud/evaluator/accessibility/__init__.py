"""Reading widgets over D-Bus (AT-SPI 2). A bus that cannot be read is `Unavailable`, never an empty tree."""
