/// A figure that is computed on request and costs nothing otherwise.
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
