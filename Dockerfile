# Levee for a deployment: one image for the web, the workers and beat. docker-compose.yml shows how they fit together.
# REQUIREMENTS=run adds what the sandbox lake needs.

FROM python:3.12-slim-bookworm AS packages
ARG REQUIREMENTS=base
COPY requirements/ /build/requirements/
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --require-hashes -r /build/requirements/${REQUIREMENTS}.txt

FROM python:3.12-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jre-headless \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --create-home levee \
    && install -d -o levee -g levee -m 700 /var/lib/levee /var/lib/levee/sandbox /var/lib/levee/beat
ENV LEVEE_HOME=/var/lib/levee \
    PATH=/opt/venv/bin:/opt/levee/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
COPY --from=packages /opt/venv /opt/venv
COPY . /opt/levee
RUN install -d /opt/levee/bin \
    && printf '#!/bin/sh\nexec /opt/venv/bin/python /opt/levee/manage.py "$@"\n' > /opt/levee/bin/levee \
    && chmod 755 /opt/levee/bin/levee
# Nobody can write compiled modules there later, and every process would compile all of them at its start.
RUN /opt/venv/bin/python -m compileall -q /opt/levee
USER levee
WORKDIR /opt/levee
RUN python -m lake.spark.jars
# The settings want a key; no page is signed while files are collected, and nothing of it stays in the image.
RUN LEVEE_SECRET_KEY=collecting-static-files levee collectstatic --no-input --verbosity 0
EXPOSE 8000
CMD ["gunicorn", "dashboard.wsgi", "--bind=0.0.0.0:8000", "--workers=4", "--threads=8", "--worker-class=dashboard.web.patient_worker.PatientWorker", "--no-control-socket", "--preload", "--access-logfile=-", "--logger-class=dashboard.web.access_log.AccessLog"]
