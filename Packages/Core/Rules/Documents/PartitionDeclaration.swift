/// Which property says what partition an object is in, as a document declares it.
struct PartitionDeclaration: Sendable {
    /// The property's name, with its line.
    let key: RuleNode.Entry
}
