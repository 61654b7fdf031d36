package import Foundation
import PostgresClient
package import TomboloHTTP
import TomboloLocalization
package import TomboloModel
package import TomboloRules

extension Trash {
    /// The effect that moving an object into the trash would have.
    package struct Prospect: Error {
        /// How many objects would go, by class name, including the object itself.
        package let counts: [String: Int]
        /// Why the app would prevent the permanent deletion of some of it, as far as the caller may list the trash.
        package let keptBecause: String?
    }

    /// What would go into the trash with an object. It's moved there, counted and rolled back, so the answer is the
    /// database's own.
    /// - Throws: `RequestFailure`: 404 if it's gone or already in the trash, 409 if too much belongs to it.
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
    /// - Returns: the number of objects.
    /// - Throws: `RequestFailure`, like `POST /admin/trash/{id}/restore`.
    package func restore(group: UUID, by subject: Subject, under rules: Rules) async throws -> Int {
        try await restore(.group(group), RestoreWishes(all: ()), by: Restorer(subject: subject, rules: rules)).count
    }

    /// Whether the rules may let a subject restore objects of a class, as far as that doesn't depend on the object.
    package static func mayRestore(_ subject: Subject, _ className: String, under rules: Rules) -> Bool {
        guard let index = rules.schema.index(of: className) else { return false }
        return [.restore, .listTrash].allSatisfy { rules.refusal(subject, $0, ofClassAt: index) == nil }
    }

    /// How messages name the objects of the trash's routes, in the language of the page.
    package static var objectWords: String { localized("objects of a class with a trash") }

    /// Asks the rules whether a subject may restore objects of any class with a trash, like the trash's own routes.
    package static func restoring(by rules: LiveRules) -> RouteAccess<ClassesGrant> {
        let names: @Sendable (Schema) -> [String] = { classes(of: $0).map(\.name) }
        return .objects(.restore, ofAny: objectWords, names, by: rules)
            .and(.objects(.listTrash, ofAny: objectWords, names, by: rules))
    }
}

extension RestoreWishes {
    /// No wishes: everything is restored unchanged.
    init(all: Void) {}
}
