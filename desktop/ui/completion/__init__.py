"""What a message field offers while one writes: files after `@`, commands after `/` (LOOK.md)."""
