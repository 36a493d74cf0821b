"""Keys of the person: where they live, how they are checked, and how they stay unseen.

The one door to keyring and SecretStorage. `store` is the asynchronous face, `system` the only
module that imports those libraries, on the store's own thread when it is first needed.
"""
