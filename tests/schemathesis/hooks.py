"""What schemathesis needs to know to make requests from openapi.yaml."""

import schemathesis

# Lines of JSON are a text like any other.
schemathesis.serializer.alias("application/x-ndjson", "text/plain")
