"""Addresses of signing in and out, of one's own account, and of people."""

from django.urls import path

from dashboard.accounts.views import me, people, sign_in

urlpatterns = [
    path("login/", sign_in.SignIn.as_view(), name="login"),
    path("logout/", sign_in.SignOut.as_view(), name="logout"),
    path("prove/", sign_in.prove, name="prove"),
    path("welcome/<uidb64>/<token>/", people.Welcome.as_view(), name="welcome"),
    path("me/", me.me, name="me"),
    path("me/password/", me.ChangePassword.as_view(), name="password"),
    path("me/sessions/end/", me.end_own_sessions, name="end-own-sessions"),
    path("people/", people.people, name="people"),
    path("people/new/", people.new_person, name="new-person"),
    path("people/<int:pk>/", people.person, name="person"),
    path("people/<int:pk>/link/", people.person_link, name="person-link"),
    path("people/<int:pk>/sessions/end/", people.person_sessions, name="person-sessions"),
]
