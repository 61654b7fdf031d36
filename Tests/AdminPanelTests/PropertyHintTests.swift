import ServiceTestSupport
import Testing

@testable import AdminPanel

/// The model classes' hints for people who enter values.
@Suite struct PropertyHintTests {
    @Test("hints appear below form fields, in the headings of rows, and on the API's page")
    func pages() async throws {
        try await ChildRowsTests.run { site in
            let hint = "In minor units of the currency: 1050 is 10.50 EUR"
            let form = try await site.browser.get("/panel/new/tickets").text
            #expect(form.contains(#"<p class="hint" id="h-f-price">\#(hint)"#), "\(form)")
            #expect(form.contains(#"aria-describedby="h-f-price ""#))
            let rows = try await site.browser.get("\(site.path)/edit?with=Ticket.event").text
            #expect(rows.contains("<small>\(hint)"))
            #expect(rows.ranges(of: hint).count == 1, "once, in the heading")
            #expect(try await site.browser.get("/panel/api/tickets").text.contains("<small>\(hint)"))
        }
    }
}
