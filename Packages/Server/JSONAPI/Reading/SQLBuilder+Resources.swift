import PostgresClient
import TomboloHTTP
package import TomboloModel
package import TomboloSQL

extension SQLBuilder {
    /// A builder for the rows of a type's table, which statements call ``ResourcePlan/alias``.
    package static func resources(
        of type: ResourceType, for view: CallerView, firstParameter: Int = 1
    ) throws(ValueError) -> SQLBuilder {
        try SQLBuilder(
            .postgresql, schema: view.schema, className: type.item.name, alias: ResourcePlan.alias,
            firstParameter: firstParameter)
    }

    /// The condition for resources that a caller may see and has asked for. In the filter, links are as resources show
    /// them: null if their target is in the trash. In the rules' condition, links are as they are stored, as for
    /// devices.
    /// - Parameter seesTrash: whether the filter sees links to objects in the trash.
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
