public import Foundation

/// Where spans are sent, from OpenTelemetry's environment variables.
/// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
public struct OTLPConfiguration: Sendable {
    public static let endpointVariable = "OTEL_EXPORTER_OTLP_ENDPOINT"
    public static let tracesEndpointVariable = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    public static let headersVariable = "OTEL_EXPORTER_OTLP_HEADERS"
    public static let timeoutVariable = "OTEL_EXPORTER_OTLP_TIMEOUT"
    public static let serviceVariable = "OTEL_SERVICE_NAME"
    public static let samplerVariable = "OTEL_TRACES_SAMPLER"
    public static let samplerArgumentVariable = "OTEL_TRACES_SAMPLER_ARG"
    public static let disabledVariable = "OTEL_SDK_DISABLED"
    public static let defaultTimeoutMilliseconds: Int64 = 10_000

    /// The address that spans are posted to.
    public var endpoint: String
    /// Header fields of each request, such as a collector's key.
    public var headers: [(name: String, value: String)] = []
    public var timeoutMilliseconds = Self.defaultTimeoutMilliseconds
    public var service: String
    public var sampler = TraceSampler()

    public init(endpoint: String, service: String) {
        self.endpoint = endpoint
        self.service = service
    }

    /// What is wrong with the environment.
    public struct Mistake: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// Reads the environment.
    /// - Parameter service: the process's name, unless the environment sets another.
    /// - Returns: nil if no endpoint is set. Then nothing is traced.
    /// - Throws: ``Mistake``. It never quotes a header.
    public static func read(
        _ environment: [String: String] = ProcessInfo.processInfo.environment, service: String
    ) throws(Mistake) -> OTLPConfiguration? {
        func text(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard text(disabledVariable)?.lowercased() != "true" else { return nil }
        let endpoint: String
        if let traces = text(tracesEndpointVariable) {
            endpoint = traces
        } else if let base = text(endpointVariable) {
            endpoint = base + (base.hasSuffix("/") ? "v1/traces" : "/v1/traces")
        } else {
            return nil
        }
        guard let url = URL(string: endpoint), ["http", "https"].contains(url.scheme), url.host()?.isEmpty == false
        else {
            throw Mistake(description: "\(endpointVariable) must be a URL such as http://127.0.0.1:4318.")
        }
        var result = OTLPConfiguration(endpoint: endpoint, service: text(serviceVariable) ?? service)
        for pair in (text(headersVariable) ?? "").split(separator: ",") {
            let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, !parts[0].isEmpty else {
                throw Mistake(description: "\(headersVariable) must be name=value pairs separated by commas.")
            }
            result.headers.append((parts[0], parts[1].removingPercentEncoding ?? parts[1]))
        }
        if let value = text(timeoutVariable) {
            guard let number = Int64(value), (1...600_000).contains(number) else {
                throw Mistake(description: "\(timeoutVariable) is '\(value)': expected milliseconds from 1 to 600000.")
            }
            result.timeoutMilliseconds = number
        }
        result.sampler = try TraceSampler(text(samplerVariable), text(samplerArgumentVariable))
        return result
    }
}

/// Which traces are recorded.
public struct TraceSampler: Hashable, Sendable {
    /// Whether to follow the decision of the place where a trace began elsewhere.
    public var followsParent = true
    /// The fraction of traces that are recorded, of those that begin here.
    public var ratio = 1.0

    public init() {}

    /// Parses OpenTelemetry's names of samplers.
    init(_ name: String?, _ argument: String?) throws(OTLPConfiguration.Mistake) {
        let name = name ?? "parentbased_always_on"
        followsParent = name.hasPrefix("parentbased_")
        switch name.replacing("parentbased_", with: "") {
        case "always_on": ratio = 1
        case "always_off": ratio = 0
        case "traceidratio":
            guard let number = Double(argument ?? "1"), (0...1).contains(number) else {
                throw OTLPConfiguration.Mistake(
                    description: "\(OTLPConfiguration.samplerArgumentVariable) must be a number from 0 to 1.")
            }
            ratio = number
        default:
            throw OTLPConfiguration.Mistake(
                description: "\(OTLPConfiguration.samplerVariable) is '\(name)': choose always_on, always_off or "
                    + "traceidratio, with or without parentbased_ in front.")
        }
    }

    /// - Parameters:
    ///   - parent: whether the parent is recorded, or nil for a trace that begins here.
    ///   - traceLow: the random half of the trace's id.
    func isSampled(parent: Bool?, traceLow: UInt64) -> Bool {
        if followsParent, let parent { return parent }
        return ratio >= 1 || Double(traceLow >> 11) < ratio * Double(UInt64(1) << 53)
    }
}
