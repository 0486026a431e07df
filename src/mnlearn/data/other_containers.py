"""Containers of other libraries that are not tables: errors that name the conversion. None of them is imported."""

from __future__ import annotations

from typing import Any

from mnlearn.errors import InputError

_CONVERSIONS = {
    "torch": "Use tensor.numpy(force=True) of a tensor of rows and columns",
    "tensorflow": "Use tensor.numpy() of a tensor of rows and columns",
    "jax": "Use numpy.asarray(array) of an array of rows and columns",
    "jaxlib": "Use numpy.asarray(array) of an array of rows and columns",
    "cupy": "Use array.get() of an array of rows and columns",
    "anndata": "Use data.to_df()",
    "pyspark": "Use frame.toPandas(), or write Parquet and name the folder to mnlearn.pack",
}


def check_container(source: Any) -> None:
    """Raise InputError for a container of xarray, which may look like a dict of columns."""
    if type(source).__module__.partition(".")[0] != "xarray":
        return
    dims = ", ".join(map(repr, getattr(source, "sizes", ()))) or "none"
    if type(source).__name__ == "DataArray":
        way = (
            "Use array.transpose(ROWS, VARIABLES).to_pandas(), with the name of the dimension that counts the rows and "
            "of the one that names the variables; stack(...) joins dimensions"
        )
    else:
        way = (
            "Use dataset.to_dataframe(), which has a column for each variable and a row for each combination of the "
            "dimensions"
        )
    raise InputError(
        f"source must be a table; got an xarray.{type(source).__name__} with the dimensions {dims}. {way}."
    )


def unknown_container(source: Any) -> InputError:
    """Return the error for a source that is not a table; it names the conversion if the library is known."""
    module = type(source).__module__
    way = _CONVERSIONS.get(module.partition(".")[0], "Convert it to one of these")
    return InputError(
        "source must be a path, a data frame, an Arrow table or dataset, a 2-D array, a sparse matrix, a dict of "
        f"columns or a list of records; got {module}.{type(source).__qualname__}. {way}."
    )
