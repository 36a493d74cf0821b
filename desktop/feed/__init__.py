"""How rows reach whoever shows them: the hub that fans out, scopes that keep a bounded window."""
