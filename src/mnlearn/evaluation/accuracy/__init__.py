"""The accuracy battery: networks of many kinds, every learner on each, and what follows from the errors.

`networks` says what is drawn, `battery` what is run, `standings` what the errors say about the learners, `calibration`
what they say about probabilities, `page` how both are written down. Which learners there are is the pipeline's to say.
"""
