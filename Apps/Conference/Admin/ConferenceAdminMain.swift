import AdminServing
import ConferencePanel

/// `conference-admin`: an admin server with the event platform's own pages and fields.
@main
struct ConferenceAdminMain: AdminServerProgram {
    static let name = "conference-admin"
    static let additions = ConferencePanel.additions
}
