/// Which property holds an object's partition, as a document declares it.
struct PartitionDeclaration: Sendable {
    /// The property's name, with its line.
    let key: RuleNode.Entry
}
