package import Foundation
import PostgresClient
package import TomboloHTTP
import TomboloLocalization
package import TomboloModel
package import TomboloRules

extension Trash {
    /// What would come of moving an object into the trash.
    package struct Prospect: Error {
        /// How many objects would go, by the names of their classes, the object itself among them.
        package let counts: [String: Int]
        /// Why the app would keep something of it from being deleted for ever, as far as the caller may list the trash.
        package let keptBecause: String?
    }

    /// What would go into the trash with an object: it's moved there, counted and put back, so that the answer is the
    /// database's own.
    /// - Throws: `RequestFailure`: 404 if it's gone or in the trash by now, 409 if too much belongs to it.
    package func wouldTake(along className: String, _ key: Value, for caller: Restorer) async throws -> Prospect {
        do {
            return try await pool.transaction { connection -> Prospect in
                let group = try await trash(className, key, by: nil, on: connection)
                throw Prospect(
                    counts: try await counts(of: group.id, connection),
                    keptBecause: try await reasonToKeep(group.id, of: className, for: caller, connection))
            }
        } catch let prospect as Prospect {
            return prospect
        }
    }

    /// Restores everything that was trashed together.
    /// - Returns: how many objects that are.
    /// - Throws: `RequestFailure`, as a restore through `POST /admin/trash/{id}/restore`.
    package func restore(group: UUID, by subject: Subject, under rules: Rules) async throws -> Int {
        try await restore(.group(group), RestoreWishes(all: ()), by: Restorer(subject: subject, rules: rules)).count
    }

    /// Whether the rules may let somebody restore objects of a class, as far as it depends on no object.
    package static func mayRestore(_ subject: Subject, _ className: String, under rules: Rules) -> Bool {
        guard let index = rules.schema.index(of: className) else { return false }
        return [.restore, .listTrash].allSatisfy { rules.refusal(subject, $0, ofClassAt: index) == nil }
    }

    /// What the trash's routes are about, in the language of the page.
    package static var objectWords: String { localized("objects of a class with a trash") }

    /// Asks the rules whether somebody may restore objects of any class with a trash, as the trash's own routes do.
    package static func restoring(by rules: LiveRules) -> RouteAccess<ClassesGrant> {
        let names: @Sendable (Schema) -> [String] = { classes(of: $0).map(\.name) }
        return .objects(.restore, ofAny: objectWords, names, by: rules)
            .and(.objects(.listTrash, ofAny: objectWords, names, by: rules))
    }
}

extension RestoreWishes {
    /// No wishes: everything is restored as it was.
    init(all: Void) {}
}
