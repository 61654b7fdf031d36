import TomboloLocalization
package import TomboloServerModel

extension DocumentEditError {
    /// What happened, in a sentence or two. The log gets it in English, since no page's language is set there.
    package var message: String {
        switch self {
        case .mistakes(let problems):
            problems.count == 1
                ? problems[0]
                : localized(
                    problems.count, one: "There is \(problems.count) problem.",
                    other: "There are \(problems.count) problems.")
        case .stale: localized("The models or rules in the database have changed since this page was made.")
        case .busy(let reason): reason
        case .unsuitableUser(let reason):
            localized("The database user in \(ModelChanges.variable) can't be used. \(reason)")
        case .unreachable(let reason):
            localized("The database in \(ModelChanges.variable) can't be reached: \(reason)")
        case .failed(let reason): reason
        }
    }

    /// What to do about it.
    package var hint: String? {
        switch self {
        case .mistakes: nil
        case .stale: localized("Nothing was done. Check what would happen now, then decide again.")
        case .busy: localized("Try again in a moment.")
        case .unsuitableUser, .unreachable: localized("docs/database-roles.md explains how to create a user for it.")
        case .failed: localized("See the server's log and PostgreSQL's for details.")
        }
    }
}
