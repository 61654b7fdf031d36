import EventModels
public import TomboloHTTP
public import TomboloModel
public import TomboloRules

/// The event platform's decorators. Each also admits the roles above its own, up to the super administrator.
extension RouteAccess where Grant == Subject {
    public static var isSuperAdmin: RouteAccess { .role(Role(.superAdmin)) }
    public static var isAdmin: RouteAccess { .role(Role(.superAdmin), Role(.admin)) }

    public static func isOwner(of event: RouteScope) -> RouteAccess {
        .role(Role(.owner), in: event).or(.isSuperAdmin)
    }

    public static func isOrganizer(of event: RouteScope) -> RouteAccess {
        .role(Role(.owner), Role(.organizer), in: event).or(.isSuperAdmin)
    }

    public static func isCoorganizer(of event: RouteScope) -> RouteAccess {
        .role(Role(.owner), Role(.organizer), Role(.coorganizer), in: event).or(.isSuperAdmin)
    }

    public static func isTrackOrganizer(of event: RouteScope) -> RouteAccess {
        .role(Role(.owner), Role(.organizer), Role(.trackOrganizer), in: event).or(.isSuperAdmin)
    }

    public static func isModerator(of event: RouteScope) -> RouteAccess {
        .role(Role(.owner), Role(.organizer), Role(.coorganizer), Role(.moderator), in: event).or(.isSuperAdmin)
    }

    public static func isRegistrar(of event: RouteScope) -> RouteAccess {
        .role(Role(.owner), Role(.organizer), Role(.coorganizer), Role(.registrar), in: event).or(.isSuperAdmin)
    }
}

extension RouteAccess where Grant == ObjectsGrant {
    /// Access for callers whom the rules, and with them the matrix, permit the operation on objects of a class in an
    /// event.
    public static func can(
        _ operation: TomboloRules.Operation, _ type: (some Object).Type, in event: RouteScope, by rules: LiveRules
    ) -> RouteAccess {
        .can(operation, ObjectClass.of(type).schema.name, in: event, through: "event", by: rules)
    }
}
