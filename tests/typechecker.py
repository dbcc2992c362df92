"""Beartype, with whole numbers accepted where floats are meant."""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
