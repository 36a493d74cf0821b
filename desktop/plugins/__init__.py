"""Programs of others that read conversations through a narrow door and show rows (DESIGN.md §7)."""
