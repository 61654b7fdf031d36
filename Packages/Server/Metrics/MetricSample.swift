/// A figure that is worked out when somebody asks for it, and costs nothing before.
public struct MetricSample: Sendable {
    public let definition: MetricDefinition
    public let value: Double
    /// In the order of the definition's labels.
    public let labels: [String]

    public init(_ definition: MetricDefinition, _ value: Double, _ labels: String...) {
        self.definition = definition
        self.value = value
        self.labels = labels
    }

    public init(_ definition: MetricDefinition, _ value: Int, _ labels: String...) {
        self.definition = definition
        self.value = Double(value)
        self.labels = labels
    }
}
