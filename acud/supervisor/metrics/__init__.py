"""What the daemon measures of itself: read from its parts when somebody asks, never kept up to date for nobody."""
