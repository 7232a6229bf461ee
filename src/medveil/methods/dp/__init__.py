"""Differentially private methods: IPA and the noisy tables it is compared with."""
