// Package telemetry turns the events that a worker records into metrics for Prometheus
// and traces for OpenTelemetry. Neither holds arguments, results, prompts or goals.
//
// It imports the core, and the libraries of both. Start with [Telemetry] in metrics.go,
// then traces.go.
package telemetry
