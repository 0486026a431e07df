"""The report: one file that a browser opens without a network, with all that was learned."""

from mnlearn.output.report._cautions import Caution, cautions
from mnlearn.output.report.writing import check_report_path, render_report, write_report

__all__ = ["Caution", "cautions", "check_report_path", "render_report", "write_report"]
