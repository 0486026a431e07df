# The Python module, imported on first use; RETICULATE_PYTHON names the Python.
python <- function(module = "mnlearn") {
  tryCatch(reticulate::import(module, convert = FALSE), error = function(e) stop(mn_install_help(), call. = FALSE))
}

mn_available <- function() {
  tryCatch({
    reticulate::import("mnlearn", convert = FALSE)
    TRUE
  }, error = function(e) FALSE)
}

mn_install_help <- function() {
  paste(
    "mnlearn must be installed in the Python that R uses. Install it there with: pip install mnlearn;",
    "then set RETICULATE_PYTHON to that Python before R starts."
  )
}

mn_learn <- function(data, method = NULL, ...) {
  settings <- list(...)
  if (length(settings) && (is.null(names(settings)) || any(names(settings) == ""))) {
    stop("every setting must have a name, such as alpha = 0.01.", call. = FALSE)
  }
  source <- if (is.character(data) && length(data) == 1) path.expand(data) else mn_table(data)
  arguments <- c(list(source), if (!is.null(method)) list(method = method), Map(as_argument, settings, names(settings)))
  network_of(with_conditions(do.call(python()$learn, arguments)))
}

# Runs an expression; an error of Python becomes a condition with the same sentence and a class of its own.
with_conditions <- function(expression) {
  tryCatch(expression, error = function(error) {
    text <- sub("\n?Run `reticulate::py_last_error\\(\\)`.*$", "", conditionMessage(error))
    text <- sub("[[:space:]]*\n(Detailed traceback|Traceback).*$", "", text)
    found <- regmatches(text, regexpr("^[A-Za-z_.]+(?=: )", text, perl = TRUE))
    message <- if (length(found)) substring(text, nchar(found) + 3) else text
    kinds <- if (length(found)) paste0("mn_", classes_of(found))
    stop(structure(
      class = unique(c(kinds, "mn_error", "error", "condition")),
      list(message = trimws(message, "right"), call = NULL)
    ))
  })
}

# The names of a class of Python and of those it derives from, given its full name.
classes_of <- function(full) {
  parts <- strsplit(full, ".", fixed = TRUE)[[1]]
  name <- parts[length(parts)]
  if (parts[1] != "mnlearn") {
    return(name)
  }
  class <- reticulate::import(paste(parts[-length(parts)], collapse = "."), convert = FALSE)[[name]]
  names <- unlist(reticulate::iterate(class$`__mro__`, function(k) reticulate::py_to_r(k$`__name__`)))
  setdiff(names, c("Exception", "BaseException", "object"))
}

# Settings as Python takes them: lists where lists are expected, whole numbers as integers.
as_argument <- function(value, name) {
  if (name %in% c("columns", "drop", "missing_values", "names", "forbidden", "required")) {
    return(as.list(value))
  }
  if (name == "levels") {
    return(lapply(value, as.list))
  }
  if (!is.null(names(value))) {
    return(as.list(value))
  }
  if (is.numeric(value) && length(value) == 1 && is_whole(value)) as.integer(value) else value
}

is_whole <- function(x) {
  known <- x[!is.na(x)]
  length(known) > 0 && all(is.finite(known)) && all(known == round(known)) && all(abs(known) < 2^31)
}

mn_table <- function(data) {
  if (is.matrix(data)) {
    data <- as.data.frame(data, stringsAsFactors = FALSE)
  }
  if (!is.data.frame(data)) {
    stop("data must be a data frame, a matrix or the path of a file; got ", class(data)[1], ".", call. = FALSE)
  }
  arrow <- python("pyarrow")
  columns <- Map(function(column, name) arrow_column(arrow, column, name), as.list(data), names(data))
  arrow$Table$from_arrays(unname(columns), names = as.list(names(data)))
}

# A column as an Arrow array; NA is null in every type.
arrow_column <- function(arrow, x, name) {
  if (inherits(x, "haven_labelled")) {
    x <- unlabelled(x)
  }
  if (is.list(x) || is.complex(x) || is.raw(x) || !is.null(dim(x))) {
    stop("column '", name, "' must hold single values; got ", class(x)[1], ". Leave it out, or split it.", call. = FALSE)
  }
  if (inherits(x, c("Date", "POSIXt"))) {
    x <- format(x)
  }
  if (inherits(x, "integer64")) {
    stop("column '", name, "' must be integer or double; got integer64. Use as.numeric().", call. = FALSE)
  }
  values <- if (is.factor(x)) as.integer(x) - 1L else as.vector(unclass(x))
  if (is.character(values)) {
    values <- enc2utf8(values)
  } else if (is.double(values) && is_whole(values)) {
    values <- as.integer(values)
  }
  type <- switch(typeof(values), character = "string", logical = "bool_", integer = "int32", "float64")
  array <- arrow$array(as_list(values), type = arrow[[type]](), mask = as_list(is.na(values)))
  if (!is.factor(x)) {
    return(array)
  }
  labels <- arrow$array(as_list(enc2utf8(levels(x))), type = arrow$string())
  arrow$DictionaryArray$from_arrays(array, labels, ordered = is.ordered(x))
}

# A vector that becomes a list of Python; reticulate takes a vector of one value for that value.
as_list <- function(x) {
  if (length(x) == 1) list(x) else x
}

# Labels as a factor if every value has a label of its own, else the values; declared missing values are missing.
unlabelled <- function(x) {
  labels <- attr(x, "labels", exact = TRUE)
  absent <- attr(x, "na_values", exact = TRUE)
  span <- attr(x, "na_range", exact = TRUE)
  values <- as.vector(unclass(x))
  attributes(values) <- NULL
  if (!is.null(absent)) values[values %in% absent] <- NA
  if (!is.null(span)) values[!is.na(values) & values >= span[1] & values <= span[2]] <- NA
  labels <- labels[!is.na(labels)]
  known <- unique(values[!is.na(values)])
  if (length(known) == 0 || !all(known %in% labels) || anyDuplicated(names(labels)) || anyDuplicated(unname(labels))) {
    return(values)
  }
  labels <- sort(labels)
  factor(values, levels = unname(labels), labels = names(labels))
}

network_of <- function(learned) {
  get <- function(object) reticulate::py_to_r(object)
  table <- get(learned$edges("pyarrow")$to_pydict())
  text <- function(x) as.character(unlist(x))
  number <- function(x) vapply(as.list(x), function(v) if (is.null(v)) NA_real_ else as.double(v), numeric(1))
  edges <- data.frame(u = text(table$u), v = text(table$v), stringsAsFactors = FALSE)
  for (column in setdiff(names(table), c("u", "v"))) {
    edges[[column]] <- number(table[[column]])
  }
  structure(
    list(
      edges = edges,
      names = text(get(reticulate::import_builtins(convert = FALSE)$list(learned$names))),
      method = get(learned$method),
      n_rows = as.double(get(learned$n_rows)),
      python = learned
    ),
    class = "mn_network"
  )
}

mn_weights <- function(network) {
  n <- length(network$names)
  weights <- matrix(0, n, n, dimnames = list(network$names, network$names))
  edges <- network$edges
  values <- if (is.null(edges$weight)) rep(1, nrow(edges)) else edges$weight
  values[is.na(values)] <- 1
  places <- cbind(match(edges$u, network$names), match(edges$v, network$names))
  weights[places] <- values
  weights[places[, 2:1, drop = FALSE]] <- values
  weights
}

mn_igraph <- function(network) {
  if (!requireNamespace("igraph", quietly = TRUE)) {
    stop("igraph is needed for this and is not installed. Install it with: install.packages(\"igraph\").", call. = FALSE)
  }
  vertices <- data.frame(name = network$names, stringsAsFactors = FALSE)
  igraph::graph_from_data_frame(network$edges, directed = FALSE, vertices = vertices)
}

as.data.frame.mn_network <- function(x, ...) {
  x$edges
}

print.mn_network <- function(x, n = 10, ...) {
  cat(sprintf("%s: %d edges among %d variables\n", x$method, nrow(x$edges), length(x$names)))
  if (nrow(x$edges)) {
    print(utils::head(x$edges, n), row.names = FALSE)
  }
  if (nrow(x$edges) > n) {
    cat(sprintf("... and %d more\n", nrow(x$edges) - n))
  }
  invisible(x)
}

plot.mn_network <- function(x, ...) {
  if (requireNamespace("qgraph", quietly = TRUE)) {
    qgraph::qgraph(mn_weights(x), labels = x$names, ...)
  } else {
    plot(mn_igraph(x), ...)
  }
  invisible(x)
}
