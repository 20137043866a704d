"""What each command does, one file for each kind; `pedanova.cli` picks."""
