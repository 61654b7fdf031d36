import EventModels
import TomboloModel
import TomboloRules

/// The event platform's rules before they became a document, when a subject's rights were those of all its roles together. The
/// document must make the same decisions, call by call.
enum FormerRules {
    private typealias Rule = FormerRule
    private typealias Role = FormerRule.Role

    /// Class × role × operations, with a row filter.
    ///
    /// Tracks, rooms, speakers, sessions and sponsors follow the permission matrix that Open Event seeds: an event's owner and
    /// organizers may do everything; co-organizers may read and update; track organizers may do everything with tracks and read the
    /// rest; moderators and registrars may read. Administrators have no row in it; ``administration`` says what they may do. Beyond
    /// the matrix, everybody who is logged in may read published objects.
    static let table: [FormerRule] =
        matrix + published + event + own + administration + unlimited

    private static let all: Set<TomboloRules.Operation> = [.read, .create, .update, .delete]
    private static let keeping: Set<TomboloRules.Operation> = [.read, .update]

    private static let services = ["Microlocation", "Session", "Speaker", "Sponsor", "Track"]
    private static let readers: [RoleName] = [.trackOrganizer, .moderator, .registrar]

    /// Rights within an event, including drafts.
    private static let matrix: [Rule] = services.flatMap { service -> [Rule] in
        func rule(_ role: RoleName, _ operations: Set<TomboloRules.Operation>) -> Rule {
            Rule(Role(role.rawValue), service, operations, where: .inScope("event"))
        }
        return [
            rule(.owner, all), rule(.organizer, all), rule(.coorganizer, keeping),
            rule(.trackOrganizer, service == "Track" ? all : [.read]), rule(.moderator, [.read]),
            rule(.registrar, [.read]),
        ]
    }

    /// What everybody may read: the event and its tickets without a login (its public page), its programme with one.
    private static let published: [Rule] = {
        let isPublished = Query<Event>.predicate { $0.state == .published && $0.privacy == .public }
        let isInProgramme = Query<Session>.predicate {
            $0.isPublic == true && $0.state.in([.accepted, .confirmed])
        }
        let isOffered = Query<Ticket>.predicate { $0.isPublic == true && $0.isHidden == false }
        return [
            Rule(.anonymous, "Event", [.read], where: .matching(isPublished)),
            Rule(.anonymous, "Ticket", [.read], where: .matching(isOffered)),
            Rule(.attendee, "Session", [.read], where: .matching(isInProgramme)),
            Rule(.attendee, "Speaker", [.read], where: .matching(Query<Speaker>.predicate { $0.isPublic == true })),
            Rule(.attendee, "Track", [.read], where: .matching(Query<Track>.predicate { $0.isPublic == true })),
            Rule(.attendee, "Sponsor", [.read], where: .matching(Query<Sponsor>.predicate { $0.isPublic == true })),
            Rule(
                .attendee, "Microlocation", [.read],
                where: .matching(Query<Microlocation>.predicate { $0.isPublic == true })),
            Rule(
                .attendee, "SocialLink", [.read], where: .matching(Query<SocialLink>.predicate { $0.isPublic == true })),
        ]
    }()

    /// An event's other classes, for its staff. Nobody can give a role that isn't below owner.
    private static let event: [Rule] = {
        let everyone: [RoleName] = [.owner, .organizer, .coorganizer] + readers
        let managing: Set<TomboloRules.Operation> = [.read, .update, .moveTicket]
        let assignable = Query<RoleAssignment>.predicate {
            $0.role.in([.registrar, .moderator, .trackOrganizer, .coorganizer, .organizer])
        }
        func rule(
            _ role: RoleName, _ name: String, _ operations: Set<TomboloRules.Operation>, _ scope: String = "event"
        ) -> Rule {
            Rule(Role(role.rawValue), name, operations, where: .inScope(scope))
        }
        var rules = everyone.map { rule($0, "Event", [.read], "_id") }
        rules += everyone.map { rule($0, "Ticket", [.read]) }
        rules += everyone.map { rule($0, "SocialLink", [.read]) }
        rules += [
            rule(.trackOrganizer, "Track", [.trash]),
            rule(.owner, "Event", [.update, .delete, .trash], "_id"), rule(.organizer, "Event", [.update], "_id"),
            rule(.owner, "Ticket", all.union(managing)), rule(.organizer, "Ticket", all.union(managing)),
            rule(.coorganizer, "Ticket", managing),
            rule(.owner, "SocialLink", all), rule(.organizer, "SocialLink", all),
            rule(.coorganizer, "SocialLink", keeping),
            rule(.owner, "SpeakerContact", all), rule(.organizer, "SpeakerContact", all),
            rule(.coorganizer, "SpeakerContact", keeping),
            rule(.owner, "RoleAssignment", [.read]), rule(.organizer, "RoleAssignment", [.read]),
            Rule(
                Role("owner"), "RoleAssignment", [.create, .update, .delete],
                where: .all([.inScope("event"), .matching(assignable)])),
        ]
        rules += ofEvents.flatMap { [rule(.owner, $0, [.trash]), rule(.organizer, $0, [.trash])] }
        return rules
    }()

    /// Classes that are newer than the rule document, which the table doesn't cover.
    static let laterClasses: Set<String> = ["Order"]

    /// The classes that have a trash and belong to an event.
    private static let ofEvents = services + ["SocialLink", "SpeakerContact", "Ticket"]

    /// The properties that identify an account. Nobody may write them through sync, not even administrators, because an unconfirmed
    /// address could be somebody else's. For the same reason, nobody may create a User through sync.
    private static let identity: Set<String> = ["email", "isSuperAdmin"]

    /// A user's own account and roles.
    private static let own: [Rule] = [
        Rule(.attendee, "User", keeping, where: .own("_id"), fixing: identity),
        Rule(.attendee, "RoleAssignment", [.read], where: .own("user")),
    ]

    /// The rights of the platform's staff: accounts, events and the trash. They may read super administrators and their roles, but
    /// do nothing else with them.
    private static let administration: [Rule] = {
        let staff = Query<RoleAssignment>.predicate { $0.role != .superAdmin }
        let ordinary = Query<User>.predicate { $0.isSuperAdmin == false }
        let trash: Set<TomboloRules.Operation> = [.trash, .listTrash, .restore]
        return [
            Rule(Role("admin"), "User", [.read, .listTrash], where: .everything),
            Rule(
                Role("admin"), "User", [.update, .delete, .trash, .restore], where: .matching(ordinary),
                fixing: identity),
            Rule(Role("admin"), "Event", all.union(trash), where: .everything),
            Rule(Role("admin"), "RoleAssignment", all, where: .matching(staff)),
        ]
            + ofEvents.map { name in
                Rule(
                    Role("admin"), name, name == "SpeakerContact" ? trash.subtracting([.listTrash]) : trash,
                    where: .everything)
            }
    }()

    private static let unlimited: [Rule] = EventModels.objectTypes.map { type in
        let isAccount = type == User.self
        let operations = all.union([.trash, .listTrash, .restore, .purge, .moveTicket])
        return Rule(
            Role("superAdmin"), String(describing: type), isAccount ? operations.subtracting([.create]) : operations,
            where: .everything, fixing: isAccount ? identity : [])
    }
}
