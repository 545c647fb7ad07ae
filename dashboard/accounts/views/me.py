"""What a person sees and changes of their own account: theme, password, sessions."""

from django.contrib import messages
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.accounts.actor import PROVED_AT, Actor, proved_at
from dashboard.accounts.forms import ThemeForm
from dashboard.accounts.roles import role_of
from dashboard.accounts.sessions import end_sessions, person_of, sessions_of, this_session
from dashboard.audit.log import record


@require_http_methods(["GET", "HEAD", "POST"])
def me(request: HttpRequest) -> HttpResponse:
    """Show who one is; POST `theme` keeps it in the session.

    Context of `accounts/me.html`: `role` (viewer, operator, admin or empty), `grants` (roles on single connections),
    `proved_at` and `session_ends_at` (datetimes, the first None for a session without a sign-in page), `sessions`,
    `this_session` (its key), `form` (one choice field, `theme`).
    """
    form = ThemeForm(request.POST or None, initial={"theme": request.session.get("theme", "system")})
    if request.method == "POST" and form.is_valid():
        request.session["theme"] = form.cleaned_data["theme"]
        messages.info(request, "The theme is kept until you sign out.")
        return redirect("me")
    user = person_of(request)
    role = role_of(user)
    context = {
        "form": form,
        "role": role.value if role else "",
        "grants": user.grants.select_related("connection").order_by("connection__name"),
        "proved_at": proved_at(request),
        "session_ends_at": request.session.get_expiry_date(),
        "sessions": sessions_of(user),
        "this_session": this_session(request),
    }
    return render(request, "accounts/me.html", context, status=400 if form.errors else 200)


@require_POST
def end_own_sessions(request: HttpRequest) -> HttpResponse:
    """End one of one's own sessions (`session`), or all but this one."""
    actor, this = Actor.from_request(request), this_session(request)
    ended = end_sessions(actor, person_of(request), only=request.POST.get("session", "")[:40], but=this)
    messages.info(request, f"{ended} {'session' if ended == 1 else 'sessions'} ended.")
    return redirect("me")


class ChangePassword(PasswordChangeView):
    """A new password for oneself; every other session ends. Context of `accounts/password.html`: `form`."""

    template_name = "accounts/password.html"
    success_url = reverse_lazy("me")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        response = super().form_valid(form)
        actor, this = Actor.from_request(self.request), this_session(self.request)
        self.request.session[PROVED_AT] = timezone.now().isoformat()
        end_sessions(actor, person_of(self.request), but=this)
        record(actor, "account.password", target_type="person", target_label=actor.name)
        messages.success(self.request, "Your password is changed, and your other sessions have ended.")
        return response
