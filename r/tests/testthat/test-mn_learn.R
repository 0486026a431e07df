survey <- function(n = 400) {
  set.seed(1)
  rain <- sample(c("no", "yes"), n, replace = TRUE)
  wet <- ifelse(runif(n) < 0.1, sample(c("no", "yes"), n, replace = TRUE), rain)
  pain <- sample(c("mild", "none", "severe"), n, replace = TRUE)
  data.frame(
    rain = factor(rain), wet = factor(wet), flag = wet == "yes" & runif(n) < 0.8,
    pain = factor(pain, levels = c("none", "mild", "severe", "unbearable"), ordered = TRUE),
    alone = sample(1:3, n, replace = TRUE), stringsAsFactors = FALSE
  )
}

skip_without_python <- function() {
  skip_if_not(mn_available(), "mnlearn is not installed in the Python of reticulate")
}

text_of <- function(object) reticulate::py_to_r(reticulate::import_builtins(convert = FALSE)$str(object))

test_that("a data frame becomes a network", {
  skip_without_python()
  network <- mn_learn(survey(), "mpl")
  expect_s3_class(network, "mn_network")
  expect_equal(network$names, names(survey()))
  expect_true(any(network$edges$u == "rain" & network$edges$v == "wet"))
  expect_identical(as.data.frame(network), network$edges)
  expect_output(print(network), "mpl: [0-9]+ edges among 5 variables")
  weights <- mn_weights(network)
  expect_true(isSymmetric(weights))
  expect_equal(sum(weights != 0), 2 * nrow(network$edges))
  expect_equal(weights["rain", "wet"], network$edges$weight[network$edges$u == "rain" & network$edges$v == "wet"])
})

test_that("a network is an igraph", {
  skip_without_python()
  skip_if_not_installed("igraph")
  network <- mn_learn(survey(), method = "mpl")
  graph <- mn_igraph(network)
  expect_equal(igraph::V(graph)$name, network$names)
  expect_equal(igraph::ecount(graph), nrow(network$edges))
  expect_equal(igraph::E(graph)$weight, network$edges$weight)
  path <- tempfile(fileext = ".pdf")
  grDevices::pdf(path)
  expect_silent(suppressMessages(suppressWarnings(plot(network))))
  grDevices::dev.off()
  expect_true(file.size(path) > 0)
})

test_that("columns keep their kinds and their gaps", {
  skip_without_python()
  data <- data.frame(
    f = factor(c("b", "a", NA, "b"), levels = c("b", "a")),
    o = factor(c("lo", "hi", "lo", "mid"), levels = c("lo", "mid", "hi", "top"), ordered = TRUE),
    l = c(TRUE, NA, FALSE, TRUE), i = c(1L, 2L, NA, 1L), w = c(1, NA, 2, 2), x = c(1.5, NA, 2, 3),
    s = c("u", "v", NA, "NA"), d = as.Date(c("2020-01-01", NA, "2020-01-02", "2020-01-01")), stringsAsFactors = FALSE
  )
  table <- mn_table(data)
  values <- reticulate::py_to_r(table$to_pydict())
  expect_equal(values$f, list("b", "a", NULL, "b"))
  expect_equal(values$l, list(TRUE, NULL, FALSE, TRUE))
  expect_equal(values$i, list(1L, 2L, NULL, 1L))
  expect_equal(values$w, list(1L, NULL, 2L, 2L))
  expect_equal(values$x, list(1.5, NULL, 2, 3))
  expect_equal(values$s, list("u", "v", NULL, "NA"))
  expect_equal(values$d, list("2020-01-01", NULL, "2020-01-02", "2020-01-01"))
  expect_equal(reticulate::py_to_r(mn_table(data[1, c("f", "w", "s")])$to_pydict()), list(f = "b", w = 1L, s = "u"))
  expect_match(text_of(table$schema), "o: dictionary<values=string, indices=int32, ordered=1>")
  read <- reticulate::import("mnlearn", convert = FALSE)$read(mn_table(survey()))
  expect_match(text_of(read$levels), "'none', 'mild', 'severe'")
  expect_match(text_of(read$ordinal), "pain")
})

test_that("columns that haven labelled follow the labels", {
  skip_without_python()
  skip_if_not_installed("haven")
  whole <- haven::labelled(c(2, 1, NA, 2), labels = c(yes = 1, no = 2))
  partly <- haven::labelled(c(1, 5, 3, 2), labels = c(low = 1, high = 5))
  spss <- haven::labelled_spss(c(1, 2, 9, 1), labels = c(yes = 1, no = 2, refused = 9), na_values = 9)
  data <- data.frame(row = 1:4)
  data$whole <- whole
  data$partly <- partly
  data$spss <- spss
  values <- reticulate::py_to_r(mn_table(data)$to_pydict())
  expect_equal(values$whole, list("no", "yes", NULL, "no"))
  expect_equal(unlist(values$partly), c(1, 5, 3, 2))
  expect_equal(values$spss, list("yes", "no", NULL, "yes"))
})

test_that("settings are passed on", {
  skip_without_python()
  data <- survey()
  data$pain[1] <- NA
  network <- mn_learn(data, "gsmn", alpha = 0.01, drop = "alone", missing = "testwise", types = c(pain = "nominal"))
  expect_equal(network$names, c("rain", "wet", "flag", "pain"))
  path <- tempfile(fileext = ".csv")
  utils::write.csv(survey(), path, row.names = FALSE)
  pain <- c("none", "mild", "severe")
  expect_equal(
    mn_learn(path, "mpl", levels = list(pain = pain))$edges[1:2],
    mn_learn(survey(), "mpl")$edges[1:2]
  )
})

test_that("errors are conditions with the sentence of the library", {
  skip_without_python()
  data <- survey()
  data$rain[3] <- NA
  error <- tryCatch(mn_learn(data), error = identity)
  expect_true(all(c("mn_DataError", "mn_InputError", "mn_error") %in% class(error)))
  expect_match(conditionMessage(error), "^[a-z].*missing")
  expect_false(grepl("Error:|Traceback|py_last_error", conditionMessage(error)))
  expect_error(mn_learn(survey(), "mlp"), "Did you mean", class = "mn_UnknownNameError")
  expect_error(mn_learn(survey(), "mpl", 3), "every setting must have a name")
  expect_error(mn_learn(1:3), "data must be a data frame")
  odd <- survey(4)
  odd$alone <- as.list(1:4)
  expect_error(mn_learn(odd), "column 'alone' must hold single values")
})

test_that("the way to install is one sentence", {
  expect_match(mn_install_help(), "pip install mnlearn.*RETICULATE_PYTHON")
})
