import Foundation
import ChildPrograms

/// The executables built together with the tests.
enum Programs {
    static var gateway: URL { get throws { try BuiltProgram("sync-gateway", "SyncGateway").url } }
    static var admin: URL { get throws { try BuiltProgram("admin-server", "AdminServer").url } }
    static var conferenceAdmin: URL { get throws { try BuiltProgram("conference-admin", "ConferenceAdmin").url } }
    static var tickets: URL { get throws { try BuiltProgram("ticket-api", "TicketAPI").url } }
    static var device: URL { get throws { try BuiltProgram("EndToEndDevice").url } }
}
