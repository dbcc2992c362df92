"""What commands do: read, fit, compare, simulate, check, report."""
