"""The commands `mnlearn reproduce`, `mnlearn bench` and `mnlearn optimize`."""
