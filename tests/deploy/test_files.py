"""What is written down for a deployment agrees with the app's own settings and with the installed Streamlit."""

import base64
import hashlib
import re
import tomllib
from pathlib import Path

import pytest
import streamlit

from tests.deploy.servers import ROOT, TEMPLATE, render

yaml = pytest.importorskip("yaml")
DEPLOY = ROOT / ".streamlit" / "deploy"
PROBE = "/_stcore/script-health-check"


def _config() -> dict[str, dict[str, object]]:
    return tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())


def _compose() -> dict[str, object]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def _pod() -> dict[str, object]:
    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    (deployment,) = [d for d in documents if d["kind"] == "Deployment"]
    return deployment["spec"]["template"]["spec"]


def _nginx_environments() -> list[dict[str, str]]:
    (nginx,) = [c for c in _pod()["containers"] if c["name"] == "nginx"]
    return [_compose()["services"]["nginx"]["environment"], {e["name"]: e["value"] for e in nginx["env"]}]


def test_the_policy_allows_exactly_the_inline_scripts_of_the_installed_streamlit() -> None:
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text()
    inline = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    hashes = {"sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline}
    assert set(re.findall(r"'(sha256-[^']+)'", TEMPLATE.read_text())) == hashes


def test_the_body_limit_is_the_upload_limit_of_the_app() -> None:
    limit = str(_config()["server"]["maxUploadSize"])
    assert [e["MAX_UPLOAD_MB"] for e in _nginx_environments()] == [limit, limit]


@pytest.mark.parametrize("environment", _nginx_environments(), ids=["compose", "kubernetes"])
def test_every_name_of_the_template_is_given(environment: dict[str, str]) -> None:
    assert not re.search(r"\$\{", render(environment))


def test_compose_balances_over_the_processes_that_it_starts() -> None:
    services = _compose()["services"]
    addresses = {s["networks"]["inside"]["ipv4_address"] for name, s in services.items() if name != "nginx"}
    listed = re.findall(r"server ([\d.]+):8501", services["nginx"]["environment"]["UPSTREAM_SERVERS"])
    assert len(listed) == len(set(listed)) >= 2
    assert set(listed) == addresses
    assert set(services["nginx"]["depends_on"]) == set(services) - {"nginx"}


def test_probes_run_the_script() -> None:
    (app,) = [c for c in _pod()["containers"] if c["name"] == "streamlit"]
    assert {app[p]["httpGet"]["path"] for p in ("startupProbe", "readinessProbe", "livenessProbe")} == {PROBE}
    container = (DEPLOY / "Containerfile").read_text()
    assert PROBE in container
    assert "STREAMLIT_SERVER_SCRIPT_HEALTH_CHECK_ENABLED=true" in container


def test_containers_write_nowhere_and_have_no_rights() -> None:
    for service in _compose()["services"].values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
    for container in _pod()["containers"]:
        rights = container["securityContext"]
        assert rights["readOnlyRootFilesystem"] is True
        assert rights["allowPrivilegeEscalation"] is False
        assert rights["capabilities"] == {"drop": ["ALL"]}


def test_the_image_holds_the_app_and_no_secret() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", (DEPLOY / "Containerfile").read_text(), flags=re.MULTILINE)
    sources = [source for line in copied for source in line.split()]
    assert {"app.py", "app_pages", "calculators", "data", ".streamlit/config.toml"} <= set(sources)
    for source in sources:
        assert (ROOT / source).exists(), source
        assert "secrets" not in source


def test_kubernetes_mounts_the_template_under_the_name_that_the_image_reads() -> None:
    (generated,) = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())["configMapGenerator"]
    assert generated["files"] == ["default.conf.template=nginx.conf.template"]
    (site,) = [v for v in _pod()["volumes"] if v["name"] == "site"]
    assert site["configMap"]["name"] == generated["name"]


def test_the_licence_of_each_dependency_is_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = re.findall(r"^\| ([\w.-]+) \| [\w.]+ \| [^|]+ \|$", (ROOT / "SECURITY.md").read_text(), flags=re.MULTILINE)
    for requirement in project["dependencies"]:
        name = re.split(r"[<>=!~\[ ]", requirement)[0]
        assert name.lower() in {package.lower() for package in listed}
