"""ct_cruxeval_p: CRUXEval's programs changed a little, to tell execution from memory. ``changes`` makes the texts, ``child`` runs
them in the sandbox, ``task`` keeps those that are what they claim to be."""
