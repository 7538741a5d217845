package ollama

// Parameters is what of an input schema goes to the server.
var Parameters = parameters
