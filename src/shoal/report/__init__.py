"""What a person gets to see: tables and self-contained pages."""
