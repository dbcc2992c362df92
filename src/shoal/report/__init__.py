"""What a person gets to see: tables and self-contained pages."""

from shoal.report.report import Report
from shoal.report.writing import write_report

__all__ = ["Report", "write_report"]
