import Hummingbird
public import PostgresClient
import TomboloLocalization
import TomboloModel
public import TomboloRules

/// The object that roles are granted in, as a request leads to it: the event of the session whose id is in the address,
/// for example. It is found by the route's parameters and the rows that they name.
public struct RouteScope: Sendable {
    /// The object in words of the page's language: `the Event`.
    let words: @Sendable () -> String
    let parameters: Set<String>
    /// Finds the object's key; nil if there is no such object.
    let key: @Sendable (EdgeContext) async throws -> Value?

    /// The object of a class whose id is in the address.
    /// - Parameter parameter: the name of the address parameter.
    public static func object(
        _ className: String, id parameter: String = "id", by rules: LiveRules, from pool: PostgresPool
    ) -> RouteScope {
        let loader = ObjectLoader(pool)
        return RouteScope(words: { localized("the \(className)") }, parameters: [parameter]) { context in
            let found = try await row(className, parameter, context, rules.current, loader)
            return found?.key
        }
    }

    /// The object that a property of the object whose id is in the address links to.
    public static func link(
        _ property: String, of className: String, id parameter: String = "id", by rules: LiveRules,
        from pool: PostgresPool
    ) -> RouteScope {
        let loader = ObjectLoader(pool)
        return RouteScope(words: { localized("the \(property) of the \(className)") }, parameters: [parameter]) {
            context in
            let rules = rules.current
            guard let found = try await row(className, parameter, context, rules, loader),
                let column = rules.schema[className]?.columnIndex(property)
            else { return nil }
            let value = found.row[column]
            return value.isNull ? nil : value
        }
    }

    private static func row(
        _ className: String, _ parameter: String, _ context: EdgeContext, _ rules: Rules, _ loader: ObjectLoader
    ) async throws -> (key: Value, row: Row)? {
        guard let index = rules.schema.index(of: className) else {
            throw RequestFailure(.internalError, "There is no class \(className).")
        }
        let key = try context.key(of: rules.schema[index], parameter)
        return try await loader.object(classIndex: index, key: key, in: rules.schema).map { (key, $0) }
    }
}
