library(testthat)
library(mnlearn)

test_check("mnlearn")
