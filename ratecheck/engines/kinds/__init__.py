"""The engines, one file each: what each refuses and costs.

They compute in the folders beside this one: `moments.expectation` has expectations without sampling,
`monte_carlo.stepwise` simulates local steps, `outcomes` follows all outcomes, `types` clients that are counted by type.
"""
