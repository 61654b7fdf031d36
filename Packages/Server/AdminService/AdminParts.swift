package import TomboloHTTP
package import TomboloJSONAPI

/// What the JSON routes of an admin server work with, for its pages: with the same limits, and the same rules.
public struct AdminParts: Sendable {
    package let api: JSONAPIRoutes
    package let people: PeopleRoutes
    /// The requests of this process.
    package let requests: RequestLog
    /// Those of all servers in the database; nil where none are kept.
    package let keptRequests: KeptRequests?
}
