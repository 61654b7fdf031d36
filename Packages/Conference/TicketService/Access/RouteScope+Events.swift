public import PostgresClient
public import TomboloHTTP
public import TomboloModel
public import TomboloRules

extension RouteScope {
    /// The event whose id is in the address.
    public static func event(
        id parameter: String = "id", by rules: LiveRules, from pool: PostgresPool
    ) -> RouteScope {
        .object("Event", id: parameter, by: rules, from: pool)
    }

    /// The event of the object whose id is in the address.
    public static func event(
        of type: (some Object).Type, id parameter: String = "id", by rules: LiveRules, from pool: PostgresPool
    ) -> RouteScope {
        .link("event", of: ObjectClass.of(type).schema.name, id: parameter, by: rules, from: pool)
    }
}
