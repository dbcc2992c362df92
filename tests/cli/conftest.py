"""Commands in this process, on machines of any speed."""

import pytest

from shoal.cli import answering


@pytest.fixture(scope="session", autouse=True)
def _without_lines_of_progress():
    """Tests of the error stream do not depend on how long a command takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answering, "EVERY", 3600.0)
        yield
