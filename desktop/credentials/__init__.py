"""Keys of the person: where they live, how they are checked, and how they stay unseen.

The one door to keyring, SecretStorage and cryptography. `keys` joins the places a key can be in,
`store` is the asynchronous face of one place; `system` and `sealing` import the libraries, on the
store's own thread when they are first needed.
"""
