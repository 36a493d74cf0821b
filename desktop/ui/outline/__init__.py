"""The outline of the conversation in view: a line for each prompt and each bookmark, to jump to."""
