import PostgresClient
import TomboloHTTP
package import TomboloModel
package import TomboloSQL

extension SQLBuilder {
    /// A builder for the rows of a type's table, which statements name ``ResourcePlan/alias``.
    package static func resources(
        of type: ResourceType, for view: CallerView, firstParameter: Int = 1
    ) throws(ValueError) -> SQLBuilder {
        try SQLBuilder(
            .postgresql, schema: view.schema, className: type.item.name, alias: ResourcePlan.alias,
            firstParameter: firstParameter)
    }

    /// The condition that resources are ones that a caller may see and have asked for. What is asked about links is about
    /// what resources show, where a link to something in the trash is null. What may be seen is about what is stored, as
    /// for devices.
    /// - Parameter seesTrash: whether links to what is in the trash are asked about too.
    package mutating func condition(
        visible: Predicate, asked: Predicate, seesTrash: Bool = false
    ) throws(ValueError) -> String {
        isReached = nil
        let isVisible = try condition(visible)
        if !seesTrash { isReached = { RowReader.isIn(trash: false, $0, alias: $1) } }
        defer { isReached = nil }
        return "\(isVisible) AND \(try condition(asked))"
    }
}
