"""The pieces of the `kill` measurement: real processes, killed at random moments, and what is left.

A scenario starts processes, kills them and looks at what they left; `Tally` counts what was seen.
Nothing here asks the program about itself: rows are read by a plain connection from a copy, and
compared with what the process printed and what its tools wrote outside.
"""
