"""Settings of the console. Every choice a deployment makes is an environment variable; docs/operating.md lists them."""

import os
from datetime import timedelta
from pathlib import Path

from csp.constants import NONE, SELF

from dashboard.environment import (
    database,
    env_bool,
    env_given,
    env_int,
    env_list,
    env_prices,
    kept_secret,
    private_home,
)
from dashboard.processes.redis import broker_url

BASE_DIR = Path(__file__).resolve().parent.parent
LEVEE_HOME = private_home(Path(os.environ.get("LEVEE_HOME", BASE_DIR / "var")).resolve())

DEBUG = env_bool("LEVEE_DEBUG", False)
SECRET_KEY = env_given("LEVEE_SECRET_KEY") or kept_secret(LEVEE_HOME / "secret-key")
# Keys the seals of the audit log, also after LEVEE_SECRET_KEY was changed: it is given the old one then.
AUDIT_SECRET = env_given("LEVEE_AUDIT_SECRET") or SECRET_KEY
ALLOWED_HOSTS = env_list("LEVEE_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = env_list("LEVEE_TRUSTED_ORIGINS")

# The lake: what workers may talk to and how often they look.
ALLOWED_ENDPOINTS = env_list("LEVEE_ALLOWED_ENDPOINTS")
SANDBOX = env_bool("LEVEE_SANDBOX", True)
SANDBOX_ENDPOINT_FILE = LEVEE_HOME / "sandbox" / "endpoint"
SANDBOX_MAKING_FILE = LEVEE_HOME / "sandbox" / "making"
OBSERVE_EVERY_SECONDS = env_int("LEVEE_OBSERVE_EVERY_SECONDS", 60)
OBSERVE_THREADS = env_int("LEVEE_OBSERVE_THREADS", 32, most=1_000)
READ_ONLY = env_bool("LEVEE_READ_ONLY", False)

# Backups: how often runs are advanced, prices that differ from the list, and what one copy request takes at most.
BACKUP_TICK_SECONDS = env_int("LEVEE_BACKUP_TICK_SECONDS", 60)
BACKUP_PRICES = env_prices("LEVEE_BACKUP_PRICES")
BACKUP_COPY_LIMIT_BYTES = env_int("LEVEE_BACKUP_COPY_LIMIT_BYTES", 5 * 1024**3, most=5 * 1024**3)

# Who is told, and how.
PUBLIC_URL = os.environ.get("LEVEE_PUBLIC_URL", "").rstrip("/")
SMTP_URL = env_given("LEVEE_SMTP_URL")
SANDBOX_SMTP_FILE = LEVEE_HOME / "sandbox" / "smtp"
MAIL_FROM = os.environ.get("LEVEE_MAIL_FROM", "Levee <levee@localhost>")
WEBHOOK_ORIGINS = env_list("LEVEE_WEBHOOK_ORIGINS")
WEBHOOK_SECRET = env_given("LEVEE_WEBHOOK_SECRET") or kept_secret(LEVEE_HOME / "webhook-secret")
DEAD_MAN_URL = env_given("LEVEE_DEAD_MAN_URL")
DIGEST_HOUR = env_int("LEVEE_DIGEST_HOUR", 6, least=0, most=23)

QUEUES = ("default", "aws", "spark", "alerts")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_htmx",
    "dashboard.web",
    "dashboard.accounts",
    "dashboard.connections",
    "dashboard.declaration",
    "dashboard.jobs",
    "dashboard.audit",
    "dashboard.alerts",
    "dashboard.deadlines",
    "dashboard.processes",
    "coordinator",
    "backups",
]

MIDDLEWARE = [
    "dashboard.web.middleware.AlwaysHeadersMiddleware",
    "dashboard.web.middleware.HealthMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # It pads each answer by a random number of bytes, and forms' tokens differ: no length tells a secret (BREACH).
    "dashboard.web.middleware.CompressionMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dashboard.accounts.middleware.SignInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "dashboard.web.middleware.PageHeadersMiddleware",
    "dashboard.accounts.middleware.SessionMiddleware",
    "axes.middleware.AxesMiddleware",
    "dashboard.frame.errors.MethodPageMiddleware",
]

ROOT_URLCONF = "dashboard.urls"

_LOADERS = [
    ("template_partials.loader.Loader", [
        ("django.template.loaders.cached.Loader", [
            "django.template.loaders.filesystem.Loader",
            "django.template.loaders.app_directories.Loader",
        ]),
    ]),
]  # fmt: skip

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": _LOADERS,
            # The app of template_partials does nothing more, and imports Django's admin at every start.
            "builtins": ["template_partials.templatetags.partials", "dashboard.web.templatetags.levee"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dashboard.frame.context.console",
            ],
        },
    }
]

DATABASES = {"default": database(os.environ.get("DATABASE_URL", ""), LEVEE_HOME)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# A link by which a person sets a password works once, and for a day.
PASSWORD_RESET_TIMEOUT = 24 * 3600
# dashboard.accounts.door says how failures slow the next try; they are forgotten a day after the last one.
AXES_HANDLER = "dashboard.accounts.door.Door"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCK_OUT_AT_FAILURE = False
AXES_COOLOFF_TIME = timedelta(days=1)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = False
AXES_USERNAME_CALLABLE = "dashboard.accounts.door.key_of"
AXES_CLIENT_IP_CALLABLE = "dashboard.accounts.actor.client_address"
AXES_LOCKOUT_CALLABLE = "dashboard.accounts.door.paused"
AXES_ENABLE_ADMIN = False
# The audit log has it.
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "tables"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = LEVEE_HOME / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# Sessions and transport. HTTPS is switched on by the deployment that has it.
HTTPS = env_bool("LEVEE_HTTPS", False)
SESSION_ENGINE = "dashboard.accounts.sessions"
SESSION_COOKIE_AGE = 8 * 3600
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "dashboard.frame.errors.csrf_failure"
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env_bool("LEVEE_BEHIND_PROXY", False) else None
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

# Celery delivers; the Job row is the truth (docs/architecture.md, Jobs).
REDIS_URL = os.environ.get("REDIS_URL") or broker_url(LEVEE_HOME)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"()": "dashboard.web.log_lines.LineFormatter", "format": "%(levelname)s %(name)s %(message)s"}
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "axes": {"level": "WARNING"},
        "botocore": {"level": "WARNING"},
        "urllib3": {"level": "WARNING"},
        "django.request": {"level": "ERROR"},
    },
}
