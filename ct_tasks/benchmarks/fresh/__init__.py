"""ct_fresh: programs that did not exist before, generated from a seed, each month's edition a fixed one.

``programs`` writes them (pure text, no execution), ``observe`` runs them in the sandbox, ``tasks`` asks about them,
``editions`` says which seeds and programs must stay out of training. What each dial means is in ``dials``.
"""
