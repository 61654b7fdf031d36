package import TomboloHTTP
package import TomboloJSONAPI

/// What an admin server's JSON routes work with, for use by its pages, which get the same limits and the same rules.
public struct AdminParts: Sendable {
    package let api: JSONAPIRoutes
    package let people: PeopleRoutes
    /// The requests of this process.
    package let requests: RequestLog
    /// The requests of all servers on the database, or nil if they aren't kept.
    package let keptRequests: KeptRequests?
}
