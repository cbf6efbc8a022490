"""`python -m benchmarks.bucket FOLDER`: moto's S3 server with the files of a folder in a bucket; says its port."""

import logging
import sys
import threading
from pathlib import Path
from typing import Any

from tests.storage.buckets import SHELF


def serve(folder: Path) -> None:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
    from moto.s3.models import s3_backends
    from werkzeug.serving import make_server

    MotoRequestHandler.disable_nagle_algorithm = True  # or each answer waits for 40 ms
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto, one_by_one = DomainDispatcherApplication(create_backend_app), threading.Lock()

    def application(environ: Any, start_response: Any) -> list[bytes]:
        with one_by_one:
            return list(moto(environ, start_response))

    backend = s3_backends["123456789012"]["aws"]
    backend.create_bucket(SHELF, "us-east-1")
    folder = folder.resolve()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            backend.put_object(SHELF, path.relative_to(folder).as_posix(), path.read_bytes())
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=MotoRequestHandler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
